import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { Tx } from '../db/client.ts'
import type { NamedPerson } from '../db/person-names-sql.ts'
import { selectRow } from '../db/select-rows.ts'
import { grants } from '../db/tables/grants.ts'
import { IdOut } from '../http/wire.ts'
import { formatId, type Uuid } from '../lib/ids.ts'

export const CreatorOut = z
  .object({
    account_id: IdOut('account'),
    grant_id: IdOut('grant').nullable(),
    label: z.string().nullable().describe('The name of the key or agent.'),
  })
  .meta({ id: 'Maker', description: 'Who acted: a person, or a key or an agent of that account if `grant_id` is set.' })
export type CreatorOut = z.output<typeof CreatorOut>

const findGrant = selectRow('grants.of_maker', grants, ['id'], { connection: 'coalesced' })

export type Creator = { accountId: Uuid; grantId: Uuid | null; label: string | null }

/** Creator columns of a new row. The columns of its last change are null. */
export const createdBy = ({ accountId, grantId, label }: Creator) => ({
  createdBy: accountId,
  createdByGrantId: grantId,
  createdByLabel: label,
  changedBy: null,
  changedByGrantId: null,
  changedByLabel: null,
})

export const changedBy = ({ accountId, grantId, label }: Creator) => ({
  changedBy: accountId,
  changedByGrantId: grantId,
  changedByLabel: label,
})

/** Returns the caller as a creator, with the current label of its grant or of the grant that linked its sign-in method. */
export const readCreator = async (
  tx: Tx,
  { accountId, originGrantId }: Pick<Principal, 'accountId' | 'originGrantId'>,
): Promise<Creator> => ({
  accountId,
  grantId: originGrantId,
  label: originGrantId ? ((await findGrant(tx, { id: originGrantId }))?.label ?? null) : null,
})

export const namesText = (people: readonly NamedPerson[]): string =>
  people.map(({ id, name }) => name ?? formatId('account', id)).join(', ')
