import { countWords } from './list-words.ts'

const words: Readonly<Record<string, string>> = {
  pending_approval: 'Needs approval',
  unknown: 'Checking',
  exhausted: 'Used up',
  admin: 'Administrator',
}

export const statusText = (status: string): string =>
  words[status] ?? status.charAt(0).toUpperCase() + status.slice(1).replaceAll('_', ' ')

/** "1 needs approval", "2 need approval", "3 being checked". */
export const statusCount = (count: number, status: string): string => {
  if (status === 'pending_approval') return countWords(count, 'needs approval', 'need approval')
  return `${count} ${status === 'unknown' ? 'being checked' : statusText(status).toLowerCase()}`
}
