PRAGMA application_id = 1836606073;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE about (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            kind TEXT NOT NULL,
            version INTEGER NOT NULL,
            owner TEXT NOT NULL,
            key TEXT NOT NULL
        ) STRICT;
INSERT INTO "about" VALUES(1,'computing party',1,'mixer a of heart','8a123fd0bbbec254346f13b71ab10c4e');
CREATE TABLE answer (
    question BLOB NOT NULL REFERENCES question,
    piece INTEGER NOT NULL,
    share BLOB NOT NULL,
    PRIMARY KEY (question, piece)
) STRICT;
CREATE TABLE audit (number INTEGER PRIMARY KEY, record TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO "audit" VALUES(1,'{"actor":"mixer a","details":{"agreement":"39bd8514208c0f1ab12f91de269561984988cfd7e4a959083182cf786e397b95","round":1},"node":"mixer a","number":1,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"opened"}',X'3D0559F641F291CAF722F330ADC3E179DBAE5E051B6691565282DDCFBDC42BF2');
INSERT INTO "audit" VALUES(2,'{"actor":"party north","details":{"bytes":15,"contribution":"00000000000000000000000000000000","round":1},"node":"mixer a","number":2,"subject":"mixer a","time":"2026-05-28T20:26:40.000000Z","verb":"contributed"}',X'C413F027FEBE9F4D64D3262C3FFA42D298C20E95A7E76ADDE94D628F17F0122E');
INSERT INTO "audit" VALUES(3,'{"actor":"party south","details":{"bytes":15,"contribution":"01010101010101010101010101010101","round":1},"node":"mixer a","number":3,"subject":"mixer a","time":"2026-05-28T20:26:40.000000Z","verb":"contributed"}',X'0889627A37556861386A18F6A44D48E48BED16EAC8F3AEB64DFEA7B3B01DC79E');
INSERT INTO "audit" VALUES(4,'{"actor":"mixer a","details":{"hospitals":2,"round":1,"set":"1c945019fc80461f46b08dd55e0595b30dec737b3c6a87ff31a386b032f8a0d0"},"node":"mixer a","number":4,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"sealed"}',X'A03C01084515FF22637B1F095F88CA4F8D271DE2E7511D827007EAD2B4273E5B');
INSERT INTO "audit" VALUES(5,'{"actor":"mixer a","details":{"bytes":18,"refused":0,"round":1,"run":"72727272727272727272727272727272"},"node":"mixer a","number":5,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"trained"}',X'CC59C97044F96A26FBB540B026BB80B4A98FF2625475AA3637FEBCFC95FB9848');
INSERT INTO "audit" VALUES(6,'{"actor":"mixer a","details":{"round":1},"node":"mixer a","number":6,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"serves"}',X'3025FF67F53AE826AF5472CE54717119FB27D787FFBC67C5D054DCA2D396CA0A');
CREATE TABLE contribution (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    id BLOB NOT NULL,
    digest BLOB NOT NULL,
    message BLOB NOT NULL,
    verdict TEXT NOT NULL,
    PRIMARY KEY (round, hospital)
) STRICT;
INSERT INTO "contribution" VALUES(1,'north',X'00000000000000000000000000000000',X'536BF111B36759D5C813CFFD88840B6A04E2CE24A58C845F7E55F81DC21F9058',X'','counted');
INSERT INTO "contribution" VALUES(1,'south',X'01010101010101010101010101010101',X'4B6DF61AE526945B6D3DE227AA8C63AA5968D75EFD35091B9DBD079BF7B1E7C4',X'','counted');
CREATE TABLE question (
    id BLOB PRIMARY KEY,
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    number INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    pieces INTEGER NOT NULL,
    UNIQUE (round, hospital, number)
) STRICT;
CREATE TABLE round (
    number INTEGER PRIMARY KEY,
    agreement TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    opened REAL NOT NULL,
    sealed INTEGER NOT NULL DEFAULT 0,
    trainings INTEGER NOT NULL DEFAULT 0,
    run BLOB,
    model BLOB
) STRICT;
INSERT INTO "round" VALUES(1,'39bd8514208c0f1ab12f91de269561984988cfd7e4a959083182cf786e397b95','serving','',1780000000.0,1,0,X'72727272727272727272727272727272',X'CBA94988A5BCB4DC5364E32B395E7CC9289835ECF09CCF07623A01F854E04116A8F1663278A14AF8B64A613B42E3');
CREATE TABLE spent (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    questions INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (round, hospital)
) STRICT;
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail only grows'); END;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail only grows'); END;
COMMIT;
