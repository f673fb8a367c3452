import type { OperationTexts } from '../../http/operation-text.ts'

export const proofOperations = {
  'proof.keys': {
    summary: 'Read the keys that sign receipts',
    text: 'A JSON Web Key Set (RFC 7517). Retired keys stay in it with the time of their end, so that old receipts can be checked.',
  },
  'proof.log': {
    summary: 'Read the head of the sealed log',
    text: 'The audit log is sealed in a Merkle tree (RFC 6962). Keep a head that you have seen: with its size as `from` the answer proves that the log has only grown since.',
  },
} satisfies OperationTexts
