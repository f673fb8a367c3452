import type { OperationTexts } from '../../http/operation-text.ts'

export const credentialsOperations = {
  'credentials.current': {
    summary: 'Read what this credential may do',
    text: 'The account, workspace, role, permissions and grant behind the credential, and its headroom: how much it can still pay, under the tightest limit of its grants and of the policies that apply to every payment. An agent calls this first, instead of learning its limits from refusals.',
  },
} satisfies OperationTexts
