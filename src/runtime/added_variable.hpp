// An environment variable that is set while a library is loaded. setenv would move and free the environment while other
// threads of the host process read it; here they see either the old array or a new one, neither of which ever changes.
#pragma once

namespace bitale::runtime {

class AddedVariable {
 public:
  // `assignment`: "NAME=value" for a name that is not set; it must live forever.
  explicit AddedVariable(const char* assignment);
  // Restores the environment, unless it has been replaced by another one in the meantime.
  ~AddedVariable();
  AddedVariable(const AddedVariable&) = delete;
  AddedVariable& operator=(const AddedVariable&) = delete;

 private:
  char** before_;
  char** with_;
};

}  // namespace bitale::runtime
