import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import { grants } from '../db/tables/grants.ts'
import { IdOut } from '../http/wire.ts'

export const MakerOut = z
  .object({
    account_id: IdOut('account'),
    grant_id: IdOut('grant').nullable(),
    label: z.string().nullable().meta({ description: 'What the key or agent was called then.' }),
  })
  .meta({ id: 'Maker', description: 'Who made it: a person, or with `grant_id` a key or an agent of that account.' })
export type MakerOut = z.output<typeof MakerOut>

/** The caller as a maker, to be stored: the label is the grant's own at this moment. */
export const makerValues = ({ accountId, grant }: Pick<Principal, 'accountId' | 'grant'>) => ({
  accountId,
  grantId: grant?.id ?? null,
  label: grant ? (sql`(select label from ${grants} where id = ${grant.id})` satisfies SQL) : null,
})
