"""Every command: where it is, and the line that stands for it in the list of commands."""

from __future__ import annotations

from mixbayes.cli.group import Entry, Listed, ListedGroup

COMMANDS: dict[str, Entry] = {
    "simulate": Listed(
        "simulate:simulate",
        "Train and classify on this machine, every node in a process of its own, and compare with pooling.",
    ),
    "bench": Listed(
        "bench:bench",
        "Measure the building blocks and whole jobs on this machine: 13 attributes of 10 values, or 30 Gaussian ones.",
    ),
    "inspect": Listed(
        "inspect_table:inspect",
        "Look at every column of a table: what it counts as, what is in it, what is doubtful.",
    ),
    "count": Listed(
        "count_table:count",
        "Count a table as a hospital's node would, and show the counts to whoever may see them.",
    ),
    "protect": Listed(
        "protect:protect",
        "Change a table for release, check what the method promises of it, and say what that promises people.",
    ),
    "measure": Listed("measure:measure", "Measure what a release gives away, and what it is still good for."),
    "tune": Listed(
        "tune:tune",
        "Look for the value of a parameter with the most privacy at nearly the best accuracy, by Kim's rules.",
    ),
    "reproduce": Listed(
        "reproduce:reproduce",
        "Run the papers' experiments on public tables, and print published and measured figures side by side.",
    ),
    "study": Listed(
        "study:study",
        "Show what four hospitals gain by joining, and what each protection costs and gives away; takes minutes.",
    ),
    "mixer": Listed(
        "nodes:mixer",
        "Run a mixer: collect contributions, train with the other mixer, answer questions.",
        "MIXER_EXAMPLES",
    ),
    "party": Listed(
        "nodes:party",
        "Run a hospital's node: check the table, contribute its counts, answer the hospital's own applications.",
        "PARTY_EXAMPLES",
    ),
    "classify": Listed("ask:classify", "Classify new patients jointly.", "CLASSIFY_EXAMPLES"),
    "evaluate": Listed(
        "evaluate:evaluate",
        "See what joining is worth to this hospital: its own classifier beside the joint ones, on its own patients.",
    ),
    "model": Listed("model:model", "Get the model of the current round, if the agreement gives it to hospitals."),
    "status": Listed(
        "status:status", "Show where the round stands, who is missing, and how much may still be asked.", computes=False
    ),
    "backup": Listed(
        "backup:backup",
        "Write a backup of a node's state, also while the node is at work.",
        "BACKUP_EXAMPLES",
        computes=False,
    ),
    "restore": Listed(
        "backup:restore", "Make a lost state folder anew from a backup.", "RESTORE_EXAMPLES", computes=False
    ),
    "doctor": Listed(
        "doctor:doctor",
        "Look at everything that can keep a node from working: a line for each thing, with the remedy.",
        computes=False,
    ),
    "round": ListedGroup(
        "Begin and end rounds.",
        {
            "new": Listed("rounds:new", "Begin a new round of the same parties.", "NEW_EXAMPLES", computes=False),
            "close": Listed("rounds:close", "End the current round for everybody.", "CLOSE_EXAMPLES", computes=False),
        },
    ),
    "audit": ListedGroup(
        "Show and verify the audit trail: who asked whom for what, and when.",
        {
            "show": Listed("audit:show", "Print the audit trail, oldest first.", "SHOW_EXAMPLES", computes=False),
            "verify": Listed(
                "audit:verify", "Check that the audit trail is as it was written.", "VERIFY_EXAMPLES", computes=False
            ),
        },
    ),
    "page": ListedGroup(
        "The page of a node: a link to it, and its texts.",
        {
            "link": Listed(
                "page:link", "Print a link to the page, for the data manager.", "LINK_EXAMPLES", computes=False
            ),
            "texts": Listed(
                "page:texts", "Print every text of the page, to be translated.", "TEXTS_EXAMPLES", computes=False
            ),
        },
    ),
    "federation": ListedGroup(
        "Write, check and change the agreement of a federation.",
        {
            "new": Listed("federation:new", "Write an agreement: DIR/federation.toml.", "NEW_EXAMPLES"),
            "show": Listed(
                "federation:show", "Check an agreement and print it with its digest.", "SHOW_EXAMPLES", computes=False
            ),
            "cuts": Listed("cuts:cuts", "Get cut points and ranks from a first round."),
            "add-party": Listed(
                "members:add_party", "Write an agreement with one more hospital.", "ADD_EXAMPLES", computes=False
            ),
            "remove-party": Listed(
                "members:remove_party", "Write an agreement without a hospital.", "REMOVE_EXAMPLES", computes=False
            ),
            "replace-party": Listed(
                "members:replace_party",
                "Write an agreement with a hospital's new key.",
                "REPLACE_PARTY_EXAMPLES",
                computes=False,
            ),
            "replace-mixer": Listed(
                "members:replace_mixer",
                "Write an agreement with a mixer's new address, new key, or both.",
                "REPLACE_MIXER_EXAMPLES",
                computes=False,
            ),
            "pin": Listed(
                "pinning:pin", "Write members' keys into an agreement not yet in use.", "PIN_EXAMPLES", computes=False
            ),
            "rotate-key": Listed(
                "pinning:rotate_key",
                "Change a member's key in an agreement. Its present key signs the change.",
                "ROTATE_EXAMPLES",
                computes=False,
            ),
        },
    ),
    "keys": ListedGroup(
        "Make, sign, compare and revoke the keys by which nodes know each other.",
        {
            "authority": Listed(
                "keys:authority", "Make the authority of a federation.", "AUTHORITY_EXAMPLES", computes=False
            ),
            "request": Listed(
                "keys:request",
                "Make a node's keys, and a request for a certificate.",
                "REQUEST_EXAMPLES",
                computes=False,
            ),
            "sign": Listed(
                "keys:sign",
                "Sign a request. Whoever holds the certificate speaks for that name: compare the fingerprint "
                "before sending it.",
                "SIGN_EXAMPLES",
                computes=False,
            ),
            "fingerprint": Listed(
                "keys:show_fingerprint",
                "Print fingerprints of keys, to be compared by telephone.",
                "FINGERPRINT_EXAMPLES",
                computes=False,
            ),
            "revoke": Listed(
                "keys:revoke_certificates",
                "Sign the list of revoked certificates, and add these.",
                "REVOKE_EXAMPLES",
                computes=False,
            ),
        },
    ),
}
