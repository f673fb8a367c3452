import { api, call } from '../../api/client.ts'

export type FreezeProps = { id: string; label: string; own: boolean; onClose: () => void }

/** What a freeze makes out of date. */
export const freezeOutdates = ['grants', 'grant', 'api-keys', 'audit'] as const

/** One's own agent; or as an owner or administrator any of the workspace. */
export const setFrozen = async (id: string, own: boolean, frozen: boolean): Promise<void> => {
  const params = { path: { id } }
  if (own) await call(api.PATCH('/v1/accounts/me/grants/{id}', { params, body: { frozen } }))
  else await call(api.PATCH('/v1/workspaces/current/grants/{id}', { params, body: { frozen } }))
}
