# expect-error: no package can be installed
# expect-line: 6
import subprocess
import sys

subprocess.check_call([sys.executable, "-m", "pip", "install", "qiskit-algorithms"])
from qiskit_algorithms import VQE
