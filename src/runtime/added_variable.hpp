// An environment variable for as long as a library is being loaded. setenv would move and free the environment under
// threads of the host process that read it; here they see either the old array or a new one, which both stay as they
// are for ever.
#pragma once

namespace bitale::runtime {

class AddedVariable {
 public:
  // `assignment`: "NAME=value" of a name that is not set; it lives for ever.
  explicit AddedVariable(const char* assignment);
  // The environment as it was, unless somebody has set another meanwhile.
  ~AddedVariable();
  AddedVariable(const AddedVariable&) = delete;
  AddedVariable& operator=(const AddedVariable&) = delete;

 private:
  char** before_;
  char** with_;
};

}  // namespace bitale::runtime
