// ArrowTable as the structs of Arrow's interface. A consumer may keep any of them and release the others, so each keeps the table alive.
#include "mindtorch/export/tabular/arrow_table.h"

#include <cerrno>
#include <new>
#include <utility>

namespace mindtorch::exporter {
namespace {

using TablePtr = std::shared_ptr<const ArrowTable>;

// What a struct of the interface points to; its private_data.
template <class Struct>
struct ArrowNode {
  TablePtr table;
  std::vector<const void*> buffers;  // of an array
  std::vector<Struct> children;
  std::vector<Struct*> child_pointers;
  Struct dictionary{};
};

template <class Struct>
void release_if_held(Struct& part) {
  if (part.release != nullptr) part.release(&part);
}

template <class Struct>
void release(Struct* part) {
  const std::unique_ptr<ArrowNode<Struct>> node(static_cast<ArrowNode<Struct>*>(part->private_data));
  for (Struct& child : node->children) release_if_held(child);
  release_if_held(node->dictionary);
  part->release = nullptr;
}

// Hands the node over to the struct.
template <class Struct>
void attach(Struct& part, std::unique_ptr<ArrowNode<Struct>> node) {
  for (Struct& child : node->children) node->child_pointers.push_back(&child);
  part.n_children = static_cast<std::int64_t>(node->children.size());
  part.children = node->child_pointers.data();
  part.dictionary = node->dictionary.release != nullptr ? &node->dictionary : nullptr;
  part.release = &release<Struct>;
  part.private_data = node.release();
}

ArrowSchema schema_part(const char* format, const char* name, std::int64_t flags, std::unique_ptr<ArrowNode<ArrowSchema>> node) {
  ArrowSchema part{.format = format, .name = name, .flags = flags};
  attach(part, std::move(node));
  return part;
}

ArrowSchema column_schema(const TablePtr& table, const ArrowColumn& column) {
  auto node = std::make_unique<ArrowNode<ArrowSchema>>(ArrowNode<ArrowSchema>{.table = table});
  if (column.is_text())
    node->dictionary = schema_part("u", "", 0, std::make_unique<ArrowNode<ArrowSchema>>(ArrowNode<ArrowSchema>{.table = table}));
  return schema_part(column.format(), column.name().c_str(), kArrowNullable, std::move(node));
}

ArrowArray array_part(std::int64_t length, std::int64_t null_count, std::unique_ptr<ArrowNode<ArrowArray>> node) {
  ArrowArray part{.length = length, .null_count = null_count};
  part.n_buffers = static_cast<std::int64_t>(node->buffers.size());
  part.buffers = node->buffers.data();
  attach(part, std::move(node));
  return part;
}

ArrowArray column_array(const TablePtr& table, const ArrowColumn& column) {
  auto node =
      std::make_unique<ArrowNode<ArrowArray>>(ArrowNode<ArrowArray>{.table = table, .buffers = {column.validity(), column.values()}});
  if (column.is_text()) {
    const std::vector<std::int32_t>& offsets = column.text_offsets();
    auto texts = std::make_unique<ArrowNode<ArrowArray>>(
        ArrowNode<ArrowArray>{.table = table, .buffers = {nullptr, offsets.data(), column.text_bytes()}});
    node->dictionary = array_part(static_cast<std::int64_t>(offsets.size()) - 1, 0, std::move(texts));
  }
  return array_part(table->rows, column.null_count(), std::move(node));
}

// The structs of all columns inside of one for the table.
template <class Struct, class OfColumn>
std::unique_ptr<ArrowNode<Struct>> table_node(const TablePtr& table, OfColumn of_column) {
  auto node = std::make_unique<ArrowNode<Struct>>(ArrowNode<Struct>{.table = table});
  for (const ArrowColumn& column : table->columns) node->children.push_back(of_column(table, column));
  return node;
}

struct Stream {
  TablePtr table;
  bool is_over = false;
};

Stream& state(ArrowArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    *out = schema_part("+s", "", 0, table_node<ArrowSchema>(state(stream).table, column_schema));
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  *out = ArrowArray{};
  if (state(stream).is_over) return 0;
  try {
    auto node = table_node<ArrowArray>(state(stream).table, column_array);
    node->buffers = {nullptr};  // no row of the table itself is null
    *out = array_part(state(stream).table->rows, 0, std::move(node));
    state(stream).is_over = true;
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

const char* get_last_error(ArrowArrayStream* /*stream*/) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void open_arrow_stream(TablePtr table, ArrowArrayStream* out) {
  *out = {.get_schema = get_schema,
          .get_next = get_next,
          .get_last_error = get_last_error,
          .release = release_stream,
          .private_data = new Stream{std::move(table)}};
}

}  // namespace mindtorch::exporter
