import type { Permission } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { parseId, type Uuid } from '../lib/ids.ts'
import type { Audience, StoredEvent } from './read.ts'
import { eventTypes, isUndelegated, permissionToRead, resourceOf, type TypeFilter } from './types.ts'

/** A reader of events, reduced to the facts that decide which events it can read. */
export type Reader = {
  readonly accountId: Uuid
  readonly permissions: ReadonlySet<Permission>
  /** The permissions in each workspace whose events the reader gets. A delegated reader has at most one workspace, its own. */
  readonly workspaces: ReadonlyMap<Uuid, ReadonlySet<Permission>>
  /** The grant of a delegated reader and its descendants. Null for a person, who can read events of all their grants. */
  readonly grants: readonly Uuid[] | null
  /** Whether the reader is a key, an agent, or a session that began with a sign-in method that a key linked. */
  readonly isDelegated: boolean
  readonly expiresAt: Date | null
}

/** `memberships`: the permissions of the role in each workspace. `descendants`: the grants below the reader's grant. */
export const readerOf = (
  principal: Principal,
  memberships: ReadonlyMap<Uuid, ReadonlySet<Permission>>,
  descendants: readonly Uuid[],
): Reader => {
  const { accountId, permissions, grant, workspace, expiresAt } = principal
  const isDelegated = principal.originGrantId !== null
  if (!grant) return { accountId, permissions, isDelegated, expiresAt, workspaces: memberships, grants: null }
  const workspaces = new Map(memberships.has(workspace.id) ? [[workspace.id, permissions]] : [])
  return { accountId, permissions, isDelegated, expiresAt, workspaces, grants: [grant.id, ...descendants] }
}

const noPermissions: ReadonlySet<Permission> = new Set()

/** The grant of an event that a delegated reader may read only for its own grant and descendants. */
const grantIdIn = (event: StoredEvent): unknown => {
  const data = event.data as { id?: unknown; grant?: { id?: unknown }; initiated_by?: { grant_id?: unknown } } | null
  if (event.type === 'payment.refused') return data?.initiated_by?.grant_id
  return resourceOf(event.type) === 'grant' ? data?.id : data?.grant?.id
}

const isOwnGrant = (grants: readonly Uuid[], event: StoredEvent): boolean => {
  if (event.type !== 'payment.refused' && !['api_key', 'grant'].includes(resourceOf(event.type))) return true
  const text = grantIdIn(event)
  const id = typeof text === 'string' ? parseId('grant', text) : undefined
  return id !== undefined && grants.includes(id)
}

/** Whether the API would show the event. Events of an account (its balance, keys, sessions) are visible only to that account. */
export const mayRead = (reader: Reader, event: StoredEvent): boolean => {
  const needed = permissionToRead(event.type, { ofTeam: event.workspaceId !== null })
  if (needed === undefined || (reader.isDelegated && isUndelegated(event.type))) return false
  const ofAccount = needed.startsWith('account.') || event.workspaceId === null
  if (ofAccount && event.accountId !== reader.accountId) return false
  const held = event.workspaceId === null ? reader.permissions : (reader.workspaces.get(event.workspaceId) ?? noPermissions)
  return held.has(needed) && (reader.grants === null || isOwnGrant(reader.grants, event))
}

/** `filter`: the types that the reader requested. */
export const audienceOf = (reader: Reader, filter: TypeFilter | null = null): Audience => {
  const held = [reader.permissions, ...reader.workspaces.values()]
  const mayHave = (type: string) => {
    const needed = [permissionToRead(type), permissionToRead(type, { ofTeam: true })]
    return needed.some((one) => one && held.some((set) => set.has(one))) && filter?.(type) !== false
  }
  return {
    accountId: reader.accountId,
    workspaceIds: [...reader.workspaces.keys()],
    types: eventTypes.filter(mayHave),
    isFiltered: filter !== null,
  }
}

/** Whether the reader lost access to a workspace, after which its stream must end. */
export const lostWorkspace = (before: Reader, after: Reader): boolean =>
  [...before.workspaces.keys()].some((id) => !after.workspaces.has(id))
