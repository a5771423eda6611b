# SPDX-License-Identifier: Apache-2.0
# A line of 100 MB is passed in bounded memory, and the failure behind it is found.
{ head -c 104857600 /dev/zero | tr '\0' 'a'; echo; cat "$FAULT"; } > long.log
python3 - << 'END' || fail "too much memory, or the cause was lost"
import os, resource, subprocess, sys
done = subprocess.run([os.environ["PINDOWN"], "check", "--format", "json", "long.log"], stdout=open("out", "wb"))
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sanitized = b"__asan_init" in open(os.environ["PINDOWN"], "rb").read()
print(f"status {done.returncode}, {peak} KiB")
sys.exit(0 if done.returncode == 1 and (sanitized or peak <= 96 * 1024) else 1)
END
json 'r["findings"][0]["code"] == "PD301"'
