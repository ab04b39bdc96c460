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
INSERT INTO "about" VALUES(1,'computing party',4,'mixer a of heart','8a123fd0bbbec254346f13b71ab10c4e');
CREATE TABLE answer (
    question BLOB NOT NULL REFERENCES question,
    piece INTEGER NOT NULL,
    share BLOB NOT NULL,
    PRIMARY KEY (question, piece)
) STRICT;
CREATE TABLE aside (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    id BLOB NOT NULL,
    share BLOB NOT NULL,
    PRIMARY KEY (round, hospital)
) STRICT;
CREATE TABLE audit (number INTEGER PRIMARY KEY, record TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO "audit" VALUES(1,'{"actor":"mixer a","details":{"agreement":"956d60e987fe4c6146ed9b4baa068f67544715faa7421068d2d7be83ee644fd4","round":1},"node":"mixer a","number":1,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"opened"}',X'1FCEC274E7B28DBF28CC1DD0DBB19A1D8C26505B5DF81A0AE022D836A480D508');
INSERT INTO "audit" VALUES(2,'{"actor":"party north","details":{"bytes":15,"contribution":"00000000000000000000000000000000","round":1},"node":"mixer a","number":2,"subject":"mixer a","time":"2026-05-28T20:26:40.000000Z","verb":"contributed"}',X'657EB4D5CDEEB25D86F4C14FD7476105BDB7E0E0606C54E820538C6C5CE51451');
INSERT INTO "audit" VALUES(3,'{"actor":"party south","details":{"bytes":15,"contribution":"01010101010101010101010101010101","round":1},"node":"mixer a","number":3,"subject":"mixer a","time":"2026-05-28T20:26:40.000000Z","verb":"contributed"}',X'936FD63FA02260BC10EF86D2C1A1999461FC70BBEA86F93E4693F78EB089DDD3');
INSERT INTO "audit" VALUES(4,'{"actor":"mixer a","details":{"hospitals":2,"round":1,"set":"1c945019fc80461f46b08dd55e0595b30dec737b3c6a87ff31a386b032f8a0d0"},"node":"mixer a","number":4,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"sealed"}',X'A0720B365AC31FF283E72940F424E032A4E74880863D789AF2225381BF111BD4');
INSERT INTO "audit" VALUES(5,'{"actor":"mixer a","details":{"bytes":18,"refused":0,"round":1,"run":"72727272727272727272727272727272"},"node":"mixer a","number":5,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"trained"}',X'5DC7987DB2C51C9057E3EE3BEBDC86B0A4949A8BE90C471FD3D81B2995F9B2F4');
INSERT INTO "audit" VALUES(6,'{"actor":"mixer a","details":{"round":1},"node":"mixer a","number":6,"subject":"round 1","time":"2026-05-28T20:26:40.000000Z","verb":"serves"}',X'39A39F77C213585054C7C601620E2AFB54A06BA448596F0A48CD33D4AE452822');
CREATE TABLE best (
    agreement TEXT PRIMARY KEY,
    recipe TEXT NOT NULL
) STRICT;
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
CREATE TABLE noise (
    agreement TEXT NOT NULL,
    round INTEGER NOT NULL,
    contributions TEXT NOT NULL,
    coins TEXT NOT NULL,
    coordinates INTEGER NOT NULL,
    seed BLOB,
    PRIMARY KEY (agreement, round, contributions)
) STRICT;
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
CREATE TABLE recipe_model (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    recipe TEXT NOT NULL,
    run BLOB NOT NULL,
    model BLOB NOT NULL,
    PRIMARY KEY (round, hospital, recipe)
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
, counts BLOB) STRICT;
INSERT INTO "round" VALUES(1,'956d60e987fe4c6146ed9b4baa068f67544715faa7421068d2d7be83ee644fd4','serving','',1780000000.0,1,0,X'72727272727272727272727272727272',X'ADC30B3FBD3784A3DAD05A35D5141B97C977EAC5594F31D6D6FF5601F6680D4C75D86DDAA4ADECCCFAA98E949AAB',NULL);
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
