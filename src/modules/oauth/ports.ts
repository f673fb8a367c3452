import type { oauthClients } from '../../db/tables/oauth.ts'
import type { Uuid } from '../../lib/ids.ts'

/** A registered client, as it is stored. */
export type ReadClient = (id: Uuid) => Promise<typeof oauthClients.$inferSelect | undefined>
