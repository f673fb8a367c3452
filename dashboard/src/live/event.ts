/** An event as the stream and the list carry it. */
export type LiveEvent = {
  id: string
  type: string
  created_at: string
  account_id: string
  workspace_id: string | null
  data: Record<string, unknown>
}

export const parseEvent = (text: string): LiveEvent | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'type' in value && 'data' in value ? (value as LiveEvent) : null
  } catch {
    return null
  }
}
