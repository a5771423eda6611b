# SPDX-License-Identifier: Apache-2.0
# Completion of pindown for bash. Install as /usr/share/bash-completion/completions/pindown.

_pindown() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=check i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in check | explain | list | predict) command=${COMP_WORDS[i]}; break ;; esac
  done
  case $before in
    --format) COMPREPLY=($(compgen -W 'text json markdown' -- "$word")); return ;;
    --threshold) COMPREPLY=($(compgen -W 'note warning error' -- "$word")); return ;;
    --color) COMPREPLY=($(compgen -W 'auto always never' -- "$word")); return ;;
    --need | --submit-limit) COMPREPLY=($(compgen -W 'unlimited 64MiB 2GiB' -- "$word")); return ;;
    --via | --from) COMPREPLY=($(compgen -W 'ssh login su su-l sudo sudo-i runuser runuser-l cron at service: user-service slurm' -- "$word")); return ;;
    --propagate) COMPREPLY=($(compgen -W 'ALL NONE MEMLOCK' -- "$word")); return ;;
    --user) COMPREPLY=($(compgen -u -- "$word")); return ;;
    --root) compopt -o filenames; COMPREPLY=($(compgen -d -- "$word")); return ;;
    --pid) COMPREPLY=($(compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$word")); return ;;
  esac
  if [[ $word == -* ]]; then
    case $command in
      check) COMPREPLY=($(compgen -W '--pid --format --need --threshold --here --color --verbose --help --version' -- "$word")) ;;
      predict) COMPREPLY=($(compgen -W '--via --user --from --root --submit-limit --propagate --format --color --help' -- "$word")) ;;
      *) COMPREPLY=($(compgen -W '--format --color --help' -- "$word")) ;;
    esac
  elif [[ $command == explain ]]; then
    COMPREPLY=($(compgen -W "$(pindown list 2> /dev/null | awk '/^PD/ { print $1, ($2 == "-" ? $4 : $3) }')" -- "$word"))
  else
    compopt -o filenames
    COMPREPLY=($(compgen -f -- "$word"))
    [[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W 'check explain list predict' -- "$word"))
  fi
}
complete -F _pindown pindown
