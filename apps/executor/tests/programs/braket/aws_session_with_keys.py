# expect-error: no network
# expect-line: 9
import boto3
from braket.aws import AwsDevice, AwsSession
from braket.circuits import Circuit

session = boto3.Session(region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
circuit = Circuit().h(0)
device = AwsDevice("arn:aws:braket:::device/quantum-simulator/amazon/sv1", AwsSession(session))
