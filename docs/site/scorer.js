/* How the search orders what it finds: answers and guides whose title has a word of the query come before others. tests/python/site_search.py reads the table, too. */
const PLACES = {"howto/": 12, "start/": 6, "tutorial/": 4, "gallery/": 2, "reference/api/bitale.array_api.": -8, "reference/api/bitale.sparse.": -4, "rewrites": 5, "changelog": -6, "design": -3, "performance": -3, "api": -6};

var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    score + Object.entries(PLACES).reduce((sum, [start, more]) => sum + (page.startsWith(start) && (more < 0 || score >= 7) ? more : 0), 0),
  objNameMatch: 20,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
