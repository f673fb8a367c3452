import { sql } from 'drizzle-orm'
import type { Logger } from 'pino'
import { lockNames } from '../db/account-lock.ts'
import { type Database, inTx, statement } from '../db/client.ts'
import { describeError } from '../db/errors.ts'
import { prepareWrite } from '../db/prepare-write.ts'
import { streamSlots } from '../db/tables/events.ts'
import { newId, type Uuid } from '../lib/ids.ts'

const renewMs = 20_000
/** Time after which a crashed process's slots are freed. */
const abandonedSeconds = 60

const forget = statement('stream_places.forget')`
  delete from stream_places where account_id = $1 and renewed_at < clock_timestamp() - make_interval(secs => $2)`
// Delegated streams may use at most half of the slots, so that an owner can always watch their keys and agents.
const acquire = statement('stream_places.take')`
  insert into stream_places (id, account_id, root_grant_id) select $1, $2, $4::uuid
   where (select count(*) from stream_places where account_id = $2) < $3
     and ($4::uuid is null or (select count(*) from stream_places where account_id = $2 and root_grant_id = $4) < $5) returning 1`
const renew = prepareWrite('stream_places.renew', { ids: 'uuid[]' }, (orm, param) =>
  orm.update(streamSlots).set({ renewedAt: sql`clock_timestamp()` }).where(sql`${streamSlots.id} = any(${param.ids})`),
)
const release = prepareWrite('stream_places.leave', { ids: 'uuid[]' }, (orm, param) =>
  orm.delete(streamSlots).where(sql`${streamSlots.id} = any(${param.ids})`),
)

/** Limits the open streams of an account across all processes, by the database's clock. */
export const createStreamSlots = ({ db, logger, maxStreams }: { db: Database; logger: Logger; maxStreams: number }) => {
  const ownSlots = new Set<Uuid>()
  /** Awaited, so that a client that reconnects immediately can use the slot that it just released. */
  const releasing = new Set<Promise<unknown>>()
  let timer: NodeJS.Timeout | undefined
  const warnOf = (message: string) => (error: unknown) => logger.warn(describeError(error), message)
  const renewAll = () => {
    if (ownSlots.size > 0) db.run(renew, { ids: [...ownSlots] }).catch(warnOf('the slots of streams could not be renewed'))
  }
  return {
    /** A slot for one more stream. Null if the account, or the root grant (null: a person), has reached its limit. */
    acquire: async (accountId: Uuid, rootGrantId: Uuid | null): Promise<Uuid | null> => {
      await Promise.all(releasing)
      const slot = newId()
      const isAcquired = await inTx(db, async (tx) => {
        await lockNames(tx, `streams:${accountId}`)
        await tx.query(forget, [accountId, abandonedSeconds])
        return (await tx.query(acquire, [slot, accountId, maxStreams, rootGrantId, Math.ceil(maxStreams / 2)])).length > 0
      })
      if (!isAcquired) return null
      ownSlots.add(slot)
      timer ??= setInterval(renewAll, renewMs).unref()
      return slot
    },
    release: (slot: Uuid): void => {
      if (!ownSlots.delete(slot)) return
      const released: Promise<unknown> = db
        .run(release, { ids: [slot] })
        .catch(warnOf('the slot of a stream could not be released'))
        .finally(() => releasing.delete(released))
      releasing.add(released)
    },
    close: async () => {
      clearInterval(timer)
      const slots = [...ownSlots]
      ownSlots.clear()
      await Promise.all(releasing)
      if (slots.length > 0) await db.run(release, { ids: slots }).catch(warnOf('the slots of streams could not be released'))
    },
  }
}

export type StreamSlots = ReturnType<typeof createStreamSlots>
