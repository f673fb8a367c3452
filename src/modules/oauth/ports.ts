import type { oauthClients } from '../../db/tables/oauth.ts'
import type { Uuid } from '../../lib/ids.ts'

/** A registered client, as it is stored. */
export type ReadClient = (id: Uuid) => Promise<typeof oauthClients.$inferSelect | undefined>

export type DocumentLimits = {
  maxBytes: number
  /** The addresses to which connections are allowed. */
  allows: (address: string) => boolean
}

export type FetchedDocument = { text: string; cacheControl: string }

/** Reads what a client publishes about itself. */
export type DocumentFetcher = (url: URL, limits: DocumentLimits) => Promise<FetchedDocument>
