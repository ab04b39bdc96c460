"""Records the form of all messages and calls beside it: `python -m tests.wire.recorded`.

Fields and calls that are new are added to the record. One that is recorded never changes and never leaves, as long as
the oldest protocol stays that this program speaks: a node that does not know the change would misread it. With a new
oldest protocol the record is written anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor import FieldDescriptor, FileDescriptor, MethodDescriptor

from mixbayes.node.serving.protocols import OLDEST
from mixbayes.wire.v1 import contribution_pb2, node_pb2

RECORD = Path(__file__).parent / "forms.txt"
FILES: tuple[FileDescriptor, ...] = (contribution_pb2.DESCRIPTOR, node_pb2.DESCRIPTOR)
_TYPES = {
    value: name.removeprefix("TYPE_").lower() for name, value in vars(FieldDescriptor).items() if name[:5] == "TYPE_"
}


def oldest_line() -> str:
    return f"oldest protocol: {OLDEST}"


def forms() -> list[str]:
    """A line for every field and call of the committed protos."""
    return sorted(line for file in FILES for line in _forms_of(file))


def recorded() -> tuple[str, list[str]]:
    """The first line of the record, and the others."""
    first, *others = RECORD.read_text(encoding="utf-8").splitlines()
    return first, others


def _forms_of(file: FileDescriptor) -> Iterator[str]:
    for message in file.message_types_by_name.values():
        assert not message.nested_types, "a message in a message is not recorded"
        yield from (_field(field) for field in message.fields)
    for service in file.services_by_name.values():
        yield from (_call(method) for method in service.methods)


def _field(field: FieldDescriptor) -> str:
    kind = field.message_type.full_name if field.message_type else _TYPES[field.type]
    many = "repeated " if field.is_repeated else ""
    one_of = f" of {field.containing_oneof.name}" if field.containing_oneof else ""
    message = field.containing_type.full_name if field.containing_type else ""
    return f"{message} {field.number}: {many}{kind} {field.name}{one_of}"


def _call(method: MethodDescriptor) -> str:
    asks = "stream " * bool(method.client_streaming)
    answers = "stream " * bool(method.server_streaming)
    taken, given = method.input_type.full_name, method.output_type.full_name
    return f"{method.containing_service.full_name}.{method.name}({asks}{taken}) returns ({answers}{given})"


def main() -> None:
    first, others = recorded() if RECORD.exists() else ("", [])
    kept = others if first == oldest_line() else []
    if lost := sorted(set(kept) - set(forms())):
        raise SystemExit("\n".join(["These are recorded, and must stay as they are:", *lost]))
    RECORD.write_text("\n".join([oldest_line(), *forms()]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
