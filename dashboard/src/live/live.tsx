import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type EventResource, resourceOf } from '../../../src/events/types.ts'
import { isolateTexts } from '../api/isolate.ts'
import { createStore } from '../lib/store.ts'
import { type ConnectionState, connectShared, type LiveEvent } from './connection.ts'
import { isList, refreshEverything, refreshLists } from './refresh.ts'

/** Queries that an event outdates, by the first part of its type. Names are the first parts of query keys. */
const affected: Readonly<Record<EventResource, readonly string[]>> = {
  balance: ['account', 'workspace', 'workspaces', 'history', 'summary', 'approval'],
  topup: ['topup', 'account', 'history', 'summary'],
  payment: [
    'payment',
    'payments',
    'approval',
    'approvals',
    'inbox',
    'account',
    'history',
    'summary',
    'refusals',
    'grants',
    'grant',
    'api-keys',
    'api-key',
    'policies',
    'mandates',
    'mandate',
  ],
  payment_batch: ['payment', 'payments', 'approval', 'approvals', 'inbox'],
  approval: ['approval', 'approvals', 'inbox', 'payment', 'payments'],
  mandate: ['mandates', 'mandate'],
  beneficiary: ['beneficiaries', 'beneficiary', 'approval', 'approvals', 'inbox'],
  policy: ['policies', 'policy', 'approval'],
  api_key: ['api-keys', 'api-key', 'grants', 'grant'],
  grant: ['grants', 'grant', 'api-keys', 'api-key', 'audit', 'approval'],
  identity: ['account'],
  passkey: ['passkeys'],
  session: ['sessions'],
  member: ['members', 'invitations', 'workspaces', 'workspace', 'inbox'],
  workspace: ['workspace', 'workspaces', 'separation', 'inbox', 'approval'],
}

const isResource = (text: string): text is EventResource => Object.hasOwn(affected, text)

const affectedBy = (type: string): readonly string[] => {
  const resource = resourceOf(type)
  return isResource(resource) ? affected[resource] : []
}

const keptEvents = 200
const batchMs = 60

export const connection = createStore<ConnectionState>('connecting')
let recent: readonly string[] = []
const isNew = (id: string): boolean => {
  if (recent.includes(id)) return false
  recent = [id, ...recent].slice(0, keptEvents)
  return true
}

/** Queries with a workspace as the second part of their key: an event of one workspace does not reload the others. */
const workspaceScoped = new Set(['inbox'])

const staleFrom = (events: readonly LiveEvent[]) => {
  const names = new Set(['events', ...events.flatMap(({ type }) => affectedBy(type))])
  const workspaces = new Set(events.map((event) => event.workspace_id))
  return (key: readonly unknown[]): boolean =>
    names.has(String(key[0])) && (!workspaceScoped.has(String(key[0])) || workspaces.has(String(key[1])))
}

/** Keeps the page current: reloads the data that events have changed. */
export const Live = ({ accountId, onEvent }: { accountId: string; onEvent?: (event: LiveEvent) => void }) => {
  const client = useQueryClient()
  const onEventRef = useRef(onEvent)
  onEventRef.current = onEvent
  useEffect(() => {
    let pending: LiveEvent[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    let interrupted = false
    // A payment causes several events at once; one reload covers them all.
    const refresh = () => {
      timer = undefined
      const isStale = staleFrom(pending)
      refreshLists(client, isStale, pending)
      pending = []
      void client.invalidateQueries({
        predicate: ({ queryKey, state }) => isStale(queryKey) && !isList(state.data),
      })
    }
    const disconnect = connectShared(accountId, {
      onEvent: (received) => {
        const event = isolateTexts(received)
        if (isNew(event.id)) onEventRef.current?.(event)
        pending.push(event)
        timer ??= setTimeout(refresh, batchMs)
      },
      onReset: () => refreshEverything(client),
      onState: (state) => {
        connection.set(state)
        if (state === 'live' && interrupted) refreshEverything(client)
        interrupted = state === 'reconnecting'
        // The service closes the stream when the session or the membership ends. These queries then detect that.
        if (interrupted) for (const name of ['account', 'workspace']) void client.invalidateQueries({ queryKey: [name] })
      },
    })
    return () => {
      clearTimeout(timer)
      disconnect()
    }
  }, [client, accountId])
  return null
}
