#!/bin/sh
# Make the secrets of compose.yaml in docker/secrets, each in a file that its owner alone can read, and docker/.env, which
# says who that is. What is there already stays as it is: delete a file to have it made anew.
#
#     docker/make-secrets.sh
#
# Run by root, the files go to the user 10001, as which the containers then run.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets

uid=$(id -u)
gid=$(id -g)
if [ "$uid" = 0 ]; then
    uid=10001 gid=10001
fi

keep() { # name; its content from stdin, where it is not there yet
    if [ -e "secrets/$1" ]; then
        cat >/dev/null
        echo "kept secrets/$1"
    else
        cat >"secrets/$1.new"
        mv "secrets/$1.new" "secrets/$1"
        echo "made secrets/$1"
    fi
}

random() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

for name in postgres_password mem_database_password temporal_database_password grafana_password; do
    random | keep "$name"
done
printf 'postgresql://mem:%s@postgres:5432/mem\n' "$(cat secrets/mem_database_password)" | keep MEM_DATABASE_URL
printf 'k1:%s\n' "$(head -c 32 /dev/urandom | base64 | tr -d '\n')" | keep MEM_PAYLOAD_KEY

# Tokens of the gateway: the secret of each in a file of its own, their hashes in the list that the gateway reads.
# Prometheus reads its own as another user, so that others may read it here; it opens /metrics and nothing else.
token() { printf 'memtok_%s' "$(random)"; }
hash() { sha256sum <"secrets/$1" | cut -d ' ' -f 1; }
token | keep admin_token
token | keep metrics_token
chmod 644 secrets/metrics_token
keep tokens <<END
[[token]]
name = "admin"
sha256 = "$(hash admin_token)"
read = ["*"]
write = ["*"]
admin = ["*"]

[[token]]
name = "prometheus"
sha256 = "$(hash metrics_token)"
admin = ["prometheus"]
END

if [ "$(id -u)" = 0 ]; then
    chown -R "$uid:$gid" secrets
fi
printf 'MEM_UID=%s\nMEM_GID=%s\n' "$uid" "$gid" >.env
echo "wrote .env; the admin's token is in docker/secrets/admin_token"
