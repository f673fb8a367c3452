import type { Schemas } from '../api/types.ts'

export const makerText = ({ grant_id, label }: Schemas['Maker']): string =>
  grant_id === null ? 'A person' : `${label ?? 'A key or an agent'} (key or agent)`
