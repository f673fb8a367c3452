import type { OperationTexts } from '../../http/operation-text.ts'

export const auditLogOperations = {
  'workspaces.audit_log': {
    summary: "Read the workspace's audit log",
    text: 'Who did what in this workspace, when, and with which credential. The rows are never changed, and a chain of hashes seals them.',
  },
  'admin.audit_log': {
    summary: 'Read the audit log',
    text: 'Who did what, when, with which credential: append-only, filtered by account, workspace, subject, action and time.',
  },
} satisfies OperationTexts
