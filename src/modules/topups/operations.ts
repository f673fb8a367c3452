import type { OperationTexts } from '../../http/operation-text.ts'
import { collectionRail, depositRails } from '../../lib/rail-names.ts'

export const topupsOperations = {
  'topups.initiate': {
    summary: 'Start a top-up',
    text: `${collectionRail} sends an M-PESA prompt to the phone; its owner confirms with the PIN. Whole shillings, 1 to 250,000. ${depositRails.join(' and ')} need no phone and no amount: \`instructions\` say where to pay in and under which number, and any amount that arrives with it is credited. The answer is \`pending\`: read the top-up again or follow the stream until the provider has answered. It waits 7 days for a deposit; a later one is credited too.`,
    body: 'InitiateTopup',
  },
  'topups.get': {
    summary: 'Read a top-up',
    text: 'The source of truth for the state of a top-up, also after a missed event. `expired` means that no answer came in time; a success that the provider proves later is still credited.',
  },
} satisfies OperationTexts
