from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Contribution(_message.Message):
    __slots__ = ("federation_digest", "round", "hospital", "id", "seed", "words")
    FEDERATION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    HOSPITAL_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    federation_digest: bytes
    round: int
    hospital: str
    id: bytes
    seed: bytes
    words: bytes
    def __init__(self, federation_digest: _Optional[bytes] = ..., round: _Optional[int] = ..., hospital: _Optional[str] = ..., id: _Optional[bytes] = ..., seed: _Optional[bytes] = ..., words: _Optional[bytes] = ...) -> None: ...
