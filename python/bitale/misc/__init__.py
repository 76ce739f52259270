"""Under PyTensor's name: pickles of parts of graphs (`bitale.misc.pkl_utils`)."""
