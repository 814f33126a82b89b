#!/bin/bash
# Replaces systemd on the machine of a night: machine start|stop|restart|status|log UNIT, where UNIT is gateway-1,
# gateway-2, postgres or standby. Like systemd, it kills a unit that does not stop within 20 s.
here=$(dirname "$(realpath "$0")")
. "$here/machine.conf" # PROJECT, NODE, POSTGRES, POSTGRES_USER, POSTGRES_PORT, STANDBY_PORT
action=$1 unit=$2

# Prints the processes of the unit, beginning with the one that was started.
processes() {
  local pid
  pid=$(cat "$here/$unit.pid" 2>/dev/null) || return
  [[ $(ps -o stat= -p "$pid") =~ ^[^Z] ]] && echo "$pid" $(pgrep -P "$pid")
}

is_ready() {
  case $unit in
    gateway-*) curl -fs -m 3 "http://127.0.0.1:$(sed -n 's/^METRICS_PORT=//p' "$here/$unit.settings")/health/ready" > /dev/null ;;
    postgres) pg_isready -q -h 127.0.0.1 -p "$POSTGRES_PORT" ;;
    standby) pg_isready -q -h 127.0.0.1 -p "$STANDBY_PORT" ;;
  esac
}

status() {
  if [ -z "$(processes)" ]; then
    echo "$unit does not run. The end of its log:"
    tail -n 3 "$here/$unit.log" 2>/dev/null || true
  elif is_ready; then echo "$unit runs, and is ready"; else echo "$unit runs, but is not ready"; fi
}

start() {
  [ -n "$(processes)" ] && return
  local command
  case $unit in
    gateway-*)
      cd "$PROJECT" || exit
      command=(bash -c 'set -a; . "$0"; exec "$@"' "$here/$unit.settings" "$NODE" --disable-warning=ExperimentalWarning --import ./src/server/start/compile-cache.ts src/main.ts)
      ;;
    *)
      cd / || exit
      command=(setpriv --reuid "$POSTGRES_USER" --clear-groups "$POSTGRES" -D "$here/pgdata/$unit/data")
      ;;
  esac
  env -i PATH="$PATH" setsid "${command[@]}" >> "$here/$unit.log" 2>&1 < /dev/null &
  echo $! > "$here/$unit.pid"
  for ((until = SECONDS + 15; SECONDS < until; )); do
    is_ready && break
    [ -z "$(processes)" ] && break
    sleep 0.1
  done
}

stop() {
  # Postgres ends its sessions on SIGINT; on SIGTERM it would wait for them.
  case $unit in gateway-*) signal=TERM ;; *) signal=INT ;; esac
  read -r first _ <<< "$(processes)"
  [ -z "$first" ] && return
  kill -"$signal" "$first"
  for ((until = SECONDS + 20; SECONDS < until; )); do
    [ -z "$(processes)" ] && return
    sleep 0.1
  done
  all=$(processes)
  # shellcheck disable=SC2086
  kill -KILL $all
  while ps -p "${all// /,}" > /dev/null; do sleep 0.1; done
}

case "$action $unit" in
  'start '* | 'stop '*) "$action" && status ;;
  'restart '*) stop && start && status ;;
  'status '?*) status ;;
  'log '?*) tail -n 50 "$here/$unit.log" ;;
  *) sed -n 's/^# //p' "$0" | head -2 ;;
esac
