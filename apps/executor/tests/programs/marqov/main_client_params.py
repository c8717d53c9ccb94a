# expect: value {"p1": 1.0, "_summary": {"result": "ok"}}
from marqov import Circuit, get_device


async def main(client, params):
    device = get_device(params)
    counts = device.run(Circuit().x(0), shots=params["shots"])
    return {"p1": counts.get("1", 0) / sum(counts.values()), "_summary": {"result": "ok"}}
