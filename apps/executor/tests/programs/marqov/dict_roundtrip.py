# expect: counts {"10": 1}
import json

from marqov import Circuit

text = json.dumps(Circuit().x(0).rz(0.2, 1).to_dict())
circuit = Circuit.from_dict(json.loads(text))
