// A scope of the recorder as context manager, for the package's own code: optimizers that are written in Python.
#include "runtime/python/src/named_scope.h"

#include "mindtorch/record/hooks.h"
#include "python/src/text.h"

namespace mindtorch::python {

namespace {

struct ScopeObject {
  std::string name;
  record::NamedScope scope;
};

}  // namespace

void bind_named_scope(nb::module_& module) {
  nb::class_<ScopeObject>(module, "NamedScope")
      .def(
          "__init__",
          [](ScopeObject* self, std::string name) {
            new (self) ScopeObject{std::move(name), {}};
          },
          nb::arg("name"))
      .def("__enter__", [](ScopeObject& self) { self.scope = record::NamedScope(std::string_view(self.name)); })
      .def("__exit__", [](ScopeObject& self, nb::args) { self.scope.close(); });
}

}  // namespace mindtorch::python
