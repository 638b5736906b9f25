# Read by the official Postgres image as it makes its data: database roles and schemas of the services.
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
    --set gateway_password="$GATEWAY_PASSWORD" --set verification_password="$VERIFICATION_PASSWORD" \
    --set identity_password="$IDENTITY_PASSWORD" --set notifier_password="$NOTIFIER_PASSWORD" \
    --file /latchkey/bootstrap.sql
