# SPDX-License-Identifier: Apache-2.0
# Completion of pindown for fish. Install in a folder of vendor_completions.d.

set -l check 'not __fish_seen_subcommand_from explain list predict'
complete -c pindown -n __fish_use_subcommand -a check -d 'diagnose a log, a process or this host'
complete -c pindown -n __fish_use_subcommand -a explain -d 'the page of a code'
complete -c pindown -n __fish_use_subcommand -a list -d 'every code'
complete -c pindown -n __fish_use_subcommand -a predict -d 'the limit a new session will get'
complete -c pindown -l format -x -a 'text json' -d 'how to write'
complete -c pindown -l help -d help
complete -c pindown -n __fish_use_subcommand -l version -d version
complete -c pindown -n $check -l pid -x -a '(__fish_complete_pids)' -d 'judge a running process'
complete -c pindown -n $check -l need -x -a 'unlimited 64MiB 2GiB' -d 'locked memory the job needs'
complete -c pindown -n $check -l threshold -x -a 'note warning error' -d 'severity that is a fault'
complete -c pindown -n $check -l here -d 'join the facts of this host'
complete -c pindown -l color -x -a 'auto always never' -d colour
complete -c pindown -n $check -s v -l verbose -d 'also what was ruled out'
complete -c pindown -n '__fish_seen_subcommand_from explain' -f -a '(pindown list 2> /dev/null | string match -rg "^(PD\d{3})")'
set -l predict '__fish_seen_subcommand_from predict'
complete -c pindown -n $predict -l via -x -a 'ssh login su su-l sudo sudo-i runuser runuser-l cron at service: user-service slurm' -d 'how the session starts'
complete -c pindown -n $predict -l user -x -a '(__fish_complete_users)' -d 'whose session'
complete -c pindown -n $predict -l from -x -a 'ssh login cron at service' -d 'where su, sudo, runuser, sbatch or srun is called'
complete -c pindown -n $predict -l submit-limit -x -a 'unlimited 64KiB 8MiB' -d 'for slurm: soft limit of the shell that submits'
complete -c pindown -n $predict -l propagate -x -a 'ALL NONE MEMLOCK' -d 'for slurm: as given to sbatch or srun'
complete -c pindown -n $predict -l root -x -a '(__fish_complete_directories)' -d 'a directory laid out as on the machine'
