/** Deliveries in the forms that the provider has sent. */
const parameters = (values: Record<string, unknown>) => Object.entries(values).map(([Key, Value]) => ({ Key, Value }))

export const attempt = {
  orderId: '0192f0c4-5b1e-7cc3-9a53-3f0f6a9d1b11',
  rail: 'MPESA_B2C',
  reference: '100000000001',
  provider: { request: '0192f0c4-5b1e-7cc3-9a53-3f0f6a9d1b11', conversation: 'AG_20260331_2010' },
} as const
export const b2bAttempt = {
  ...attempt,
  rail: 'MPESA_B2B',
  provider: { request: '5118-111210482-1', conversation: 'AG_20260331_2010' },
} as const

export const stkSuccess = {
  Body: {
    stkCallback: {
      MerchantRequestID: '29115-34620561-1',
      CheckoutRequestID: 'ws_CO_191220191020363925',
      ResultCode: 0,
      ResultDesc: 'The service request is processed successfully.',
      CallbackMetadata: {
        Item: [
          { Name: 'Amount', Value: 1.0 },
          { Name: 'MpesaReceiptNumber', Value: 'NLJ7RT61SV' },
          { Name: 'Balance' },
          { Name: 'TransactionDate', Value: 20191219102115 },
          { Name: 'PhoneNumber', Value: 254708374149 },
        ],
      },
    },
  },
}

export const stkCancelled = {
  Body: {
    stkCallback: {
      MerchantRequestID: '29115-34620561-1',
      CheckoutRequestID: 'ws_CO_191220191020363925',
      ResultCode: 1032,
      ResultDesc: 'Request cancelled by user.',
    },
  },
}

const payoutIds = { OriginatorConversationID: attempt.orderId, ConversationID: 'AG_20260331_2010' }

export const b2cSuccess = {
  Result: {
    ResultType: 0,
    ResultCode: 0,
    ResultDesc: 'The service request is processed successfully.',
    ...payoutIds,
    TransactionID: 'NLJ41HAY6Q',
    ResultParameters: {
      ResultParameter: parameters({
        TransactionAmount: 10,
        TransactionReceipt: 'NLJ41HAY6Q',
        B2CRecipientIsRegisteredCustomer: 'Y',
        ReceiverPartyPublicName: '254708374149 - John Doe',
        TransactionCompletedDateTime: '19.12.2019 11:45:50',
      }),
    },
    ReferenceData: { ReferenceItem: { Key: 'QueueTimeoutURL', Value: 'https://internal.example/submit' } },
  },
}

export const b2cUnregistered = {
  Result: { ResultType: 0, ResultCode: 2040, ResultDesc: 'Unregistered', ...payoutIds, TransactionID: 'NLJ41HAY6Q' },
}

export const b2bSuccess = {
  Result: {
    ResultType: '0',
    ResultCode: '0',
    ResultDesc: 'The service request is processed successfully',
    OriginatorConversationID: '5118-111210482-1',
    ConversationID: 'AG_20260331_2010',
    TransactionID: 'QKA81LK5CY',
    ResultParameters: {
      ResultParameter: parameters({
        Amount: '190.00',
        Currency: 'KES',
        DebitPartyCharges: '',
        ReceiverPartyPublicName: '000000 - Biller',
      }),
    },
    ReferenceData: { ReferenceItem: [{ Key: 'BillReferenceNumber', Value: '19008' }] },
  },
}

export const b2bFailure = {
  Result: {
    ResultType: 0,
    ResultCode: 2001,
    ResultDesc: 'The initiator information is invalid.',
    OriginatorConversationID: '5118-111210482-1',
    ConversationID: 'AG_20260331_2010',
    TransactionID: 'OAK0000000',
    ResultParameters: { ResultParameter: { Key: 'BOCompletedTime', Value: 20200120164825 } },
    ReferenceData: { ReferenceItem: { Key: 'QueueTimeoutURL', Value: 'https://internal.example/submit' } },
  },
}

/** A status result. Its envelope has the query's ids; names occur twice, values are missing. */
export const statusResult = (status: string, more: Record<string, unknown> = {}) => ({
  Result: {
    ResultType: 0,
    ResultCode: 0,
    OriginatorConversationID: '1236-7134259-1',
    ConversationID: 'AG_20260401_777',
    TransactionID: 'OAK0000000',
    ResultParameters: {
      ResultParameter: [
        { Key: 'DebitPartyName', Value: '600310 - Safaricom' },
        { Key: 'DebitPartyName', Value: '600310 - Safaricom' },
        { Key: 'ReceiptNo', Value: 'LKXXXX1234' },
        { Key: 'ConversationID', Value: 'AG_20260331_2010' },
        { Key: 'Amount', Value: 300 },
        { Key: 'TransactionReason' },
        { Key: 'TransactionStatus', Value: status },
      ],
    },
    ...more,
  },
})

export const pesalinkDelivery = (state: string, code: number | string, more: Record<string, unknown> = {}) => ({
  status: true,
  code: 0,
  message: 'success',
  data: { state, code, amount: 500.5, reference: attempt.reference, transactionId: '54154', ...more },
})
