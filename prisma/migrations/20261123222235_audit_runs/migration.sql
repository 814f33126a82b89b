-- CreateTable
CREATE TABLE "audit_run" (
    "id" UUID NOT NULL DEFAULT uuid_v7(),
    "finished_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_ms(),
    "rules" INTEGER NOT NULL,
    "broken" TEXT[],

    CONSTRAINT "audit_run_pkey" PRIMARY KEY ("id")
);

-- Only operators' commands write it. Nobody changes or deletes a row
GRANT SELECT, INSERT ON "audit_run" TO "gateway_work";
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "audit_run" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "no_truncate" BEFORE TRUNCATE ON "audit_run" FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE "audit_run" ADD CONSTRAINT "audit_run_sound" CHECK ("rules" > 0 AND "broken" IS NOT NULL);
