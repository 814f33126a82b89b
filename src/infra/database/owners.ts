import { OperatorError } from './faults.ts';
import { type Queryable, statement } from './statement.ts';

const powersStatement = statement<{ login: string; isSuperuser: boolean; bypasses: boolean; owned: string | null }>(
  'powers_of_login',
  `select r.rolname::text as login, r.rolsuper as is_superuser, r.rolbypassrls as bypasses,
     (select c.relname::text from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and pg_has_role(session_user, c.relowner, 'member')
      order by c.relname limit 1) as owned
   from pg_roles r where r.rolname = session_user`,
);

/** Refuses superusers, logins that bypass row-level security, and owners of tables. @throws OperatorError */
export async function refuseOwners({ pool }: { readonly pool: Queryable }): Promise<void> {
  const [powers] = await powersStatement(pool);
  if (!powers) throw new Error('powers_of_login returned no row');
  const { login, isSuperuser, bypasses, owned } = powers;
  if (!isSuperuser && !bypasses && owned === null) return;
  const reason = isSuperuser ? 'is a superuser' : bypasses ? 'bypasses row-level security' : `owns the table ${owned}`;
  throw new OperatorError(
    `The login ${login} in DATABASE_URL ${reason}, so the database cannot restrict what the service does. Use a login that is only a member of gateway_serving and gateway_work (prisma/roles.sql creates one), and set DATABASE_OWNER_URL for migrations; or set ALLOW_UNSAFE=owner-login to start anyway.`,
  );
}
