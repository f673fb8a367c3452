import { columnsOf } from '../../../db/columns.ts'
import { joinTurn } from '../../../db/join-turn.ts'
import { type Query, statement } from '../../../db/statement.ts'
import { oauthClients } from '../../../db/tables/oauth.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { ReadClient } from '../ports.ts'

export const clientColumns = columnsOf(oauthClients)

const readByIds = statement('oauth_clients.by_ids', `select ${clientColumns} from oauth_clients where id = any($1::uuid[])`)

type Client = typeof oauthClients.$inferSelect

/** Reads registered clients: those of one turn of the event loop are read together, and nothing is kept. */
export const createReadClient = (query: Query): ReadClient =>
  joinTurn<Uuid, Client | undefined>({
    inFlight: 2,
    maxKeys: 128,
    query: async (ids) => {
      const clients = await query<Client>(readByIds, [ids])
      const byId = new Map(clients.map((client) => [client.id, client]))
      return ids.map((id) => byId.get(id))
    },
  })
