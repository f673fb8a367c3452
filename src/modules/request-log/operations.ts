import type { OperationTexts } from '../../http/operation-text.ts'

export const requestLogOperations = {
  'request_log.list': {
    summary: 'Read the request log',
    text: 'Requests of this account in the last seven days that were refused, failed or changed something, by all of its credentials, newest first. Bodies and queries are not kept. A key or an agent sees its own and those of the grants below it. Entries appear within a second, and the last of them are lost when a process is killed. An account keeps the newest 10,000.',
  },
} satisfies OperationTexts
