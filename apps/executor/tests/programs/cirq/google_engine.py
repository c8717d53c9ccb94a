# expect-error: cirq_google is not installed
# expect-error: cirq alone
# expect-line: 5
import cirq
import cirq_google

engine = cirq_google.Engine(project_id="my-project")
circuit = cirq.Circuit(cirq.X(cirq.GridQubit(5, 2)))
