-- Closed to PUBLIC: functions, the table of migrations, and the schemas. A role that is none of the service's calls and reads nothing
-- (docs/database-roles.md). Functions with the rights of their callers stay open to the two roles of the service.
DO $$
DECLARE
  v_function record;
BEGIN
  FOR v_function IN
    SELECT p.oid::regprocedure AS name, p.prosecdef OR p.prorettype = 'trigger'::regtype AS is_closed FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f' AND pg_has_role(p.proowner, 'USAGE')
      AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  LOOP
    IF NOT v_function.is_closed THEN
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO "gateway_serving", "gateway_work"', v_function.name);
    END IF;
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', v_function.name);
  END LOOP;
END
$$;
-- Those with the rights of the owner that were open
GRANT EXECUTE ON FUNCTION find_payee(text, text, text, environment), cluster_totals(text),
  cluster_orders(text, cluster_direction, text, text), find_token_rights(uuid[], uuid[]) TO "gateway_serving", "gateway_work";

-- What later migrations of the same owner make
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA "public" GRANT EXECUTE ON FUNCTIONS TO "gateway_serving", "gateway_work";

-- The check of a start reads it as gateway_serving
DO $$
BEGIN
  IF to_regclass('public._prisma_migrations') IS NOT NULL THEN
    REVOKE ALL ON "_prisma_migrations" FROM PUBLIC;
    GRANT SELECT ON "_prisma_migrations" TO "gateway_serving", "gateway_work";
  END IF;
  -- Only its owner may: where that is somebody else, prisma/roles.sql does it.
  IF pg_has_role((SELECT nspowner FROM pg_namespace WHERE nspname = 'public'), 'USAGE') THEN
    REVOKE ALL ON SCHEMA "public" FROM PUBLIC;
  END IF;
END
$$;
