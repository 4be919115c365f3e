// The slots of Tensor's type. Each file with methods of Tensor adds its part.
#pragma once

#include <Python.h>

#include <vector>

namespace mindtorch::python {

void add_operator_slots(std::vector<PyType_Slot>& slots);  // + - * @ == abs() float() bool() ...
void add_index_slots(std::vector<PyType_Slot>& slots);     // x[...], len(), iteration
void add_property_slots(std::vector<PyType_Slot>& slots);  // shape, dtype, grad, ...
void add_method_slots(std::vector<PyType_Slot>& slots);    // size(), item(), numpy(), backward(), ...

}  // namespace mindtorch::python
