import type { OperationTexts } from '../../http/operation-text.ts'

export const suspenseOperations = {
  'admin.list_suspense': {
    summary: 'List money in suspense',
    text: 'Money that a provider moved and that could not be booked, with what it seems to be about. A person must resolve each.',
  },
  'admin.resolve_suspense': {
    summary: 'Resolve money in suspense',
    text: 'Records the result: an adjustment gave the money to an account, the provider reversed it, or it was explained. The note is for the audit log.',
    body: 'ResolveSuspense',
  },
  'admin.resolve_suspense_items': {
    summary: 'Resolve several items of suspense',
    text: 'One result and one note for all of them, as one change: where one is resolved already or unknown, none is resolved. Each item has its own row in the audit log.',
    body: 'ResolveSuspenseItems',
  },
} satisfies OperationTexts
