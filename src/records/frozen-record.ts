/** Returns the time since which a customer or an account is frozen; nothing where it is not (decisions 13 and 78). */
export function frozenRecord({ frozenAt }: { readonly frozenAt: Date | null }): { readonly frozenAt?: string } {
  return frozenAt === null ? {} : { frozenAt: frozenAt.toISOString() };
}
