"""Checks a DSSE envelope alone: `dsse_check.py ENVELOPE.json KEY.pem`. Prints the statement, or fails."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key


def main() -> None:
    envelope = json.loads(Path(sys.argv[1]).read_text())
    key = load_pem_public_key(Path(sys.argv[2]).read_bytes())
    assert isinstance(key, Ed25519PublicKey)
    payload = base64.b64decode(envelope["payload"], validate=True)
    kind = envelope["payloadType"].encode()
    signed = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    (signature,) = envelope["signatures"]
    key.verify(base64.b64decode(signature["sig"], validate=True), signed)
    print(json.dumps({"statement": json.loads(payload), "keyid": signature["keyid"]}))


main()
