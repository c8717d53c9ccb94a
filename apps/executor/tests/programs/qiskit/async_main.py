# expect: value {"expected": 3}
# params: {"a": 1, "b": 2}
# expect-warning: shots, engine, engine_version and optimization_level are null
import asyncio

from qiskit import QuantumCircuit


async def add(a, b):
    await asyncio.sleep(0)
    return a + b


async def main(a, b):
    QuantumCircuit(1)
    return {"expected": await add(a, b)}


if __name__ == "__main__":
    asyncio.run(main(1, 2))
