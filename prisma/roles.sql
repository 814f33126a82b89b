-- Creates the roles for a production database. Run this once, as a superuser or a role that may create roles, before
-- the first `npm run migrate`. First change the passwords and the database name (docs/database-roles.md).

-- The login in DATABASE_OWNER_URL, which owns the tables and applies migrations.
create role payments_owner login password 'change me';
grant create, connect on database payments to payments_owner;
grant usage, create on schema public to payments_owner;

-- There are two service roles: one answers requests for one platform at a time, and the other does background work for
-- all platforms. The migrations grant both roles their rights, and create a missing role if the owner may create roles.
create role gateway_serving nologin;
create role gateway_work nologin;

-- No other role may read tables or call functions. (The migrations revoke access to everything that they create.)
revoke all on schema public from public;
grant usage on schema public to gateway_serving, gateway_work;

-- Lets the role see how long other logins' transactions (for example, a dump's) have been open. `doctor` and the alert
-- PaymentsOldSnapshot need this.
grant pg_read_all_stats to gateway_work;

-- The login in DATABASE_URL, which the service uses. It has no rights of its own; each connection sets one of the two
-- roles. Behind a connection pooler in transaction mode, `npm run migrate` sets gateway_serving as the login's default
-- role (docs/operating.md).
create role payments_gateway login noinherit password 'change me';
grant gateway_serving, gateway_work to payments_gateway;

-- An instance with ROLE=serve needs only the first role:
--   create role payments_api login noinherit password 'change me';
--   grant gateway_serving to payments_api;
