// The lock of the name table, for fork().
#pragma once

namespace mindtorch::record {

void lock_name_table();
void unlock_name_table();

}  // namespace mindtorch::record
