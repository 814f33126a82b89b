// Made by `npm run client:generate`. Do not edit.

/** The object types of each interface and union. */
export const possibleTypes: Record<string, string[]> = {
  "Account": [
    "ExternalAccount",
    "InternalAccount"
  ],
  "ApproveTransactionResult": [
    "ApproveTransactionSuccess",
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InsufficientFundsError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "Beneficiary": [
    "BusinessBeneficiary",
    "IndividualBeneficiary"
  ],
  "CancelQuoteResult": [
    "CancelQuoteSuccess",
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "QuoteExpiredError",
    "UnavailableError"
  ],
  "CreateApiTokenResult": [
    "ConflictError",
    "CreateApiTokenSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "CreateClientTokenResult": [
    "ConflictError",
    "CreateClientTokenSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "CreateCustomerResult": [
    "ConflictError",
    "CreateCustomerSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "CreateExternalAccountResult": [
    "ConflictError",
    "CreateExternalAccountSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "CreateQuoteResult": [
    "ConflictError",
    "CreateQuoteSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InsufficientFundsError",
    "InvalidInputError",
    "LimitExceededError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError",
    "ValidatedPayment"
  ],
  "CreateWebhookEndpointResult": [
    "ConflictError",
    "CreateWebhookEndpointSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "CustomerDetails": [
    "BusinessDetails",
    "IndividualDetails"
  ],
  "DeleteCustomerResult": [
    "ConflictError",
    "CustomerInUseError",
    "DeleteCustomerSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "DeleteExternalAccountResult": [
    "ConflictError",
    "DeleteExternalAccountSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "DeletePolicyResult": [
    "ConflictError",
    "DeletePolicySuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "DeleteWebhookEndpointResult": [
    "ConflictError",
    "DeleteWebhookEndpointSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "ExecuteQuoteResult": [
    "ConflictError",
    "ExecuteQuoteSuccess",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InsufficientFundsError",
    "InvalidInputError",
    "LimitExceededError",
    "NotFoundError",
    "OutcomeUnknownError",
    "QuoteExpiredError",
    "UnavailableError",
    "ValidatedPayment"
  ],
  "ExternalAccountInfo": [
    "BaseWalletInfo",
    "CadAccountInfo",
    "ClabeAccountInfo",
    "GbpAccountInfo",
    "IbanAccountInfo",
    "Layer2WalletInfo",
    "LightningInfo",
    "NgnAccountInfo",
    "PhpAccountInfo",
    "PixAccountInfo",
    "PolygonWalletInfo",
    "SgdAccountInfo",
    "SolanaWalletInfo",
    "TronWalletInfo",
    "UpiAccountInfo",
    "UsAccountInfo"
  ],
  "LookUpReceiverResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "LookUpReceiverSuccess",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError"
  ],
  "Node": [
    "ApiToken",
    "ClientToken",
    "Customer",
    "Event",
    "ExternalAccount",
    "InternalAccount",
    "Lookup",
    "Platform",
    "Policy",
    "Quote",
    "Transaction",
    "WebhookDelivery",
    "WebhookEndpoint"
  ],
  "PaymentDestination": [
    "AccountDestination",
    "UmaDestination"
  ],
  "PaymentInstruction": [
    "BaseWalletInstruction",
    "CadAccountInstruction",
    "ClabeInstruction",
    "GbpAccountInstruction",
    "IbanInstruction",
    "Layer2WalletInstruction",
    "LightningInstruction",
    "NgnAccountInstruction",
    "PhpAccountInstruction",
    "PixInstruction",
    "PolygonWalletInstruction",
    "SgdAccountInstruction",
    "SolanaWalletInstruction",
    "TronWalletInstruction",
    "UpiInstruction",
    "UsAccountInstruction"
  ],
  "PaymentSource": [
    "AccountSource",
    "RealtimeFundingSource",
    "UmaSource"
  ],
  "RejectTransactionResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "RejectTransactionSuccess",
    "UnavailableError"
  ],
  "ReplayWebhookEventsResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "ReplayWebhookEventsSuccess",
    "UnavailableError"
  ],
  "ResendWebhookDeliveryResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "ResendWebhookDeliverySuccess",
    "UnavailableError"
  ],
  "RevokeApiTokenResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "RevokeApiTokenSuccess",
    "UnavailableError"
  ],
  "RevokeClientTokenResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "RevokeClientTokenSuccess",
    "UnavailableError"
  ],
  "RotateApiTokenResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "RotateApiTokenSuccess",
    "UnavailableError"
  ],
  "RotateWebhookSecretResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "RotateWebhookSecretSuccess",
    "UnavailableError"
  ],
  "SandboxFundAccountResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "SandboxFundAccountSuccess",
    "UnavailableError"
  ],
  "SandboxReceiveUmaResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "SandboxReceiveUmaSuccess",
    "UnavailableError"
  ],
  "SandboxSendResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "QuoteExpiredError",
    "SandboxSendSuccess",
    "UnavailableError"
  ],
  "SandboxSetExternalAccountStatusResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "SandboxSetExternalAccountStatusSuccess",
    "UnavailableError"
  ],
  "SandboxSetKycStatusResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "SandboxSetKycStatusSuccess",
    "UnavailableError"
  ],
  "SendTestWebhookResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "SendTestWebhookSuccess",
    "UnavailableError"
  ],
  "SetPolicyResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "SetPolicySuccess",
    "UnavailableError"
  ],
  "TransferInResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "LimitExceededError",
    "NotFoundError",
    "OutcomeUnknownError",
    "TransferInSuccess",
    "UnavailableError",
    "ValidatedPayment"
  ],
  "TransferInternalResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InsufficientFundsError",
    "InvalidInputError",
    "LimitExceededError",
    "NotFoundError",
    "OutcomeUnknownError",
    "TransferInternalSuccess",
    "UnavailableError",
    "ValidatedPayment"
  ],
  "TransferOutResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InsufficientFundsError",
    "InvalidInputError",
    "LimitExceededError",
    "NotFoundError",
    "OutcomeUnknownError",
    "TransferOutSuccess",
    "UnavailableError",
    "ValidatedPayment"
  ],
  "UpdateCustomerResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError",
    "UpdateCustomerSuccess"
  ],
  "UpdateExternalAccountResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError",
    "UpdateExternalAccountSuccess"
  ],
  "UpdatePlatformResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "OutcomeUnknownError",
    "UnavailableError",
    "UpdatePlatformSuccess"
  ],
  "UpdateWebhookEndpointResult": [
    "ConflictError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InvalidInputError",
    "NotFoundError",
    "OutcomeUnknownError",
    "UnavailableError",
    "UpdateWebhookEndpointSuccess"
  ],
  "UserError": [
    "ConflictError",
    "CustomerInUseError",
    "ForbiddenError",
    "IdempotencyMismatchError",
    "InsufficientFundsError",
    "InvalidInputError",
    "LimitExceededError",
    "NotFoundError",
    "OutcomeUnknownError",
    "QuoteExpiredError",
    "UnavailableError"
  ]
};

/** The arguments that tell one list from another, by the type and the field of the connection. */
export const connections: Record<string, Record<string, string[]>> = {
  "Account": {
    "transactions": [
      "filter",
      "orderBy",
      "sortOrder"
    ]
  },
  "Customer": {
    "accounts": [
      "filter",
      "sortOrder"
    ],
    "quotes": [
      "filter",
      "sortOrder"
    ],
    "transactions": [
      "filter",
      "orderBy",
      "sortOrder"
    ]
  },
  "ExternalAccount": {
    "transactions": [
      "filter",
      "orderBy",
      "sortOrder"
    ]
  },
  "InternalAccount": {
    "ledgerEntries": [
      "from",
      "sortOrder",
      "to"
    ],
    "transactions": [
      "filter",
      "orderBy",
      "sortOrder"
    ]
  },
  "Query": {
    "accounts": [
      "filter",
      "sortOrder"
    ],
    "apiTokens": [
      "filter",
      "sortOrder"
    ],
    "clientTokens": [
      "filter",
      "sortOrder"
    ],
    "customers": [
      "filter",
      "orderBy",
      "sortOrder"
    ],
    "events": [
      "filter"
    ],
    "quotes": [
      "filter",
      "sortOrder"
    ],
    "transactions": [
      "filter",
      "orderBy",
      "sortOrder"
    ],
    "webhookEndpoints": []
  },
  "WebhookEndpoint": {
    "deliveries": [
      "filter",
      "sortOrder"
    ]
  }
};

/** Object types without an identity: they belong to the object that has them. */
export const embedded: string[] = [
  "AccountChange",
  "AccountChanges",
  "AccountConnection",
  "AccountDestination",
  "AccountEdge",
  "AccountSource",
  "AccountStatement",
  "AccountUpdate",
  "Address",
  "ApiTokenConnection",
  "ApiTokenEdge",
  "ApprovalThreshold",
  "ApproveTransactionSuccess",
  "BaseWalletInfo",
  "BaseWalletInstruction",
  "BeneficialOwner",
  "BeneficiaryVerifiedData",
  "BusinessBeneficiary",
  "BusinessDetails",
  "CadAccountInfo",
  "CadAccountInstruction",
  "CancelQuoteSuccess",
  "ClabeAccountInfo",
  "ClabeInstruction",
  "ClientTokenConnection",
  "ClientTokenEdge",
  "ConflictError",
  "CreateApiTokenSuccess",
  "CreateClientTokenSuccess",
  "CreateCustomerSuccess",
  "CreateExternalAccountSuccess",
  "CreateQuoteSuccess",
  "CreateWebhookEndpointSuccess",
  "CustomerChange",
  "CustomerChanges",
  "CustomerConnection",
  "CustomerEdge",
  "CustomerInUseError",
  "CustomerUpdate",
  "DeleteCustomerSuccess",
  "DeleteExternalAccountSuccess",
  "DeletePolicySuccess",
  "DeleteWebhookEndpointSuccess",
  "EventConnection",
  "EventEdge",
  "ExchangeRate",
  "ExecuteQuoteSuccess",
  "ExternalAccountFieldFormat",
  "ExternalAccountForm",
  "ExternalAccountFormField",
  "ForbiddenError",
  "GbpAccountInfo",
  "GbpAccountInstruction",
  "IbanAccountInfo",
  "IbanInstruction",
  "IdempotencyMismatchError",
  "IndividualBeneficiary",
  "IndividualDetails",
  "InformationField",
  "InsufficientFundsError",
  "InvalidInputError",
  "Layer2WalletInfo",
  "Layer2WalletInstruction",
  "LedgerEntryConnection",
  "LedgerEntryEdge",
  "LightningInfo",
  "LightningInstruction",
  "LimitExceededError",
  "LookUpReceiverSuccess",
  "MetadataEntry",
  "Money",
  "MutationReceipt",
  "NgnAccountInfo",
  "NgnAccountInstruction",
  "NotFoundError",
  "OutcomeUnknownError",
  "PageInfo",
  "PhpAccountInfo",
  "PhpAccountInstruction",
  "PixAccountInfo",
  "PixInstruction",
  "PlatformCurrency",
  "PolicyApproval",
  "PolicyLimit",
  "PolygonWalletInfo",
  "PolygonWalletInstruction",
  "PricingStep",
  "QuoteChange",
  "QuoteChanges",
  "QuoteConnection",
  "QuoteEdge",
  "QuoteExpiredError",
  "QuoteUpdate",
  "RateDetails",
  "RealtimeFundingSource",
  "ReceiverCurrency",
  "Refund",
  "RefusedField",
  "RejectTransactionSuccess",
  "ReplayWebhookEventsSuccess",
  "RequiredField",
  "ResendWebhookDeliverySuccess",
  "RevokeApiTokenSuccess",
  "RevokeClientTokenSuccess",
  "RotateApiTokenSuccess",
  "RotateWebhookSecretSuccess",
  "SandboxFundAccountSuccess",
  "SandboxReceiveUmaSuccess",
  "SandboxSendSuccess",
  "SandboxSetExternalAccountStatusSuccess",
  "SandboxSetKycStatusSuccess",
  "SendTestWebhookSuccess",
  "SetPolicySuccess",
  "SgdAccountInfo",
  "SgdAccountInstruction",
  "SolanaWalletInfo",
  "SolanaWalletInstruction",
  "StatementSum",
  "TransactionChange",
  "TransactionChanges",
  "TransactionConnection",
  "TransactionEdge",
  "TransactionEvent",
  "TransactionTotal",
  "TransactionUpdate",
  "TransferInSuccess",
  "TransferInternalSuccess",
  "TransferOutSuccess",
  "TronWalletInfo",
  "TronWalletInstruction",
  "UmaDestination",
  "UmaSource",
  "UnavailableError",
  "UpdateCustomerSuccess",
  "UpdateExternalAccountSuccess",
  "UpdatePlatformSuccess",
  "UpdateWebhookEndpointSuccess",
  "UpiAccountInfo",
  "UpiInstruction",
  "UsAccountInfo",
  "UsAccountInstruction",
  "ValidatedPayment",
  "Viewer",
  "WebhookAttempt",
  "WebhookDeliveryConnection",
  "WebhookDeliveryEdge",
  "WebhookEndpointConnection",
  "WebhookEndpointEdge"
];

/** The fields of objects that are BigInt or DateTime. */
export const scalarFields: Record<string, Record<string, string>> = {
  "AccountStatement": {
    "from": "DateTime",
    "to": "DateTime"
  },
  "AccountUpdate": {
    "occurredAt": "DateTime"
  },
  "ApiToken": {
    "createdAt": "DateTime",
    "expiresAt": "DateTime",
    "lastUsedAt": "DateTime"
  },
  "ApproveTransactionSuccess": {
    "serverTime": "DateTime"
  },
  "CancelQuoteSuccess": {
    "serverTime": "DateTime"
  },
  "ClientToken": {
    "createdAt": "DateTime",
    "expiresAt": "DateTime",
    "revokedAt": "DateTime"
  },
  "CreateApiTokenSuccess": {
    "serverTime": "DateTime"
  },
  "CreateClientTokenSuccess": {
    "expiresAt": "DateTime",
    "serverTime": "DateTime"
  },
  "CreateCustomerSuccess": {
    "serverTime": "DateTime"
  },
  "CreateExternalAccountSuccess": {
    "serverTime": "DateTime"
  },
  "CreateQuoteSuccess": {
    "serverTime": "DateTime"
  },
  "CreateWebhookEndpointSuccess": {
    "serverTime": "DateTime"
  },
  "Customer": {
    "createdAt": "DateTime",
    "frozenAt": "DateTime",
    "updatedAt": "DateTime"
  },
  "CustomerUpdate": {
    "occurredAt": "DateTime"
  },
  "DeleteCustomerSuccess": {
    "serverTime": "DateTime"
  },
  "DeleteExternalAccountSuccess": {
    "serverTime": "DateTime"
  },
  "DeletePolicySuccess": {
    "serverTime": "DateTime"
  },
  "DeleteWebhookEndpointSuccess": {
    "serverTime": "DateTime"
  },
  "Event": {
    "occurredAt": "DateTime"
  },
  "ExchangeRate": {
    "updatedAt": "DateTime"
  },
  "ExecuteQuoteSuccess": {
    "serverTime": "DateTime"
  },
  "ExternalAccount": {
    "createdAt": "DateTime",
    "frozenAt": "DateTime",
    "updatedAt": "DateTime"
  },
  "InternalAccount": {
    "createdAt": "DateTime",
    "frozenAt": "DateTime",
    "updatedAt": "DateTime"
  },
  "LedgerEntry": {
    "occurredAt": "DateTime"
  },
  "LimitExceededError": {
    "freeAt": "DateTime"
  },
  "LookUpReceiverSuccess": {
    "serverTime": "DateTime"
  },
  "Lookup": {
    "createdAt": "DateTime",
    "expiresAt": "DateTime"
  },
  "Money": {
    "amount": "BigInt"
  },
  "MutationReceipt": {
    "createdAt": "DateTime"
  },
  "Platform": {
    "createdAt": "DateTime",
    "updatedAt": "DateTime"
  },
  "Policy": {
    "createdAt": "DateTime",
    "updatedAt": "DateTime"
  },
  "PolicyLimit": {
    "renewsAt": "DateTime"
  },
  "Quote": {
    "createdAt": "DateTime",
    "expiresAt": "DateTime"
  },
  "QuoteExpiredError": {
    "expiredAt": "DateTime"
  },
  "QuoteUpdate": {
    "occurredAt": "DateTime"
  },
  "Refund": {
    "initiatedAt": "DateTime",
    "settledAt": "DateTime"
  },
  "RejectTransactionSuccess": {
    "serverTime": "DateTime"
  },
  "ReplayWebhookEventsSuccess": {
    "serverTime": "DateTime"
  },
  "ResendWebhookDeliverySuccess": {
    "serverTime": "DateTime"
  },
  "RevokeApiTokenSuccess": {
    "serverTime": "DateTime"
  },
  "RevokeClientTokenSuccess": {
    "serverTime": "DateTime"
  },
  "RotateApiTokenSuccess": {
    "overlapEndsAt": "DateTime",
    "serverTime": "DateTime"
  },
  "RotateWebhookSecretSuccess": {
    "serverTime": "DateTime"
  },
  "SandboxFundAccountSuccess": {
    "serverTime": "DateTime"
  },
  "SandboxReceiveUmaSuccess": {
    "serverTime": "DateTime"
  },
  "SandboxSendSuccess": {
    "serverTime": "DateTime"
  },
  "SandboxSetExternalAccountStatusSuccess": {
    "serverTime": "DateTime"
  },
  "SandboxSetKycStatusSuccess": {
    "serverTime": "DateTime"
  },
  "SendTestWebhookSuccess": {
    "serverTime": "DateTime"
  },
  "SetPolicySuccess": {
    "serverTime": "DateTime"
  },
  "Transaction": {
    "approvalDueAt": "DateTime",
    "createdAt": "DateTime",
    "expectedSettlementAt": "DateTime",
    "settledAt": "DateTime",
    "updatedAt": "DateTime"
  },
  "TransactionEvent": {
    "occurredAt": "DateTime"
  },
  "TransactionUpdate": {
    "occurredAt": "DateTime"
  },
  "TransferInSuccess": {
    "serverTime": "DateTime"
  },
  "TransferInternalSuccess": {
    "serverTime": "DateTime"
  },
  "TransferOutSuccess": {
    "serverTime": "DateTime"
  },
  "UpdateCustomerSuccess": {
    "serverTime": "DateTime"
  },
  "UpdateExternalAccountSuccess": {
    "serverTime": "DateTime"
  },
  "UpdatePlatformSuccess": {
    "serverTime": "DateTime"
  },
  "UpdateWebhookEndpointSuccess": {
    "serverTime": "DateTime"
  },
  "ValidatedPayment": {
    "approvalDueAt": "DateTime",
    "serverTime": "DateTime"
  },
  "Viewer": {
    "expiresAt": "DateTime",
    "serverTime": "DateTime"
  },
  "WebhookAttempt": {
    "at": "DateTime"
  },
  "WebhookDelivery": {
    "nextAttemptAt": "DateTime"
  },
  "WebhookEndpoint": {
    "createdAt": "DateTime",
    "disabledAt": "DateTime",
    "failingSince": "DateTime"
  }
};

/** The fields of input objects that are BigInt or DateTime, or that lead to such. */
export const scalarInputs: Record<string, Record<string, string>> = {
  "AmountInput": {
    "units": "BigInt"
  },
  "AmountRange": {
    "max": "BigInt",
    "min": "BigInt"
  },
  "ApiTokenFilter": {
    "createdAfter": "DateTime",
    "createdBefore": "DateTime"
  },
  "ApprovalThresholdInput": {
    "amount": "AmountInput"
  },
  "CreateApiTokenInput": {
    "expiresAt": "DateTime"
  },
  "CreateQuoteInput": {
    "lockedCurrencyAmount": "AmountInput"
  },
  "CustomerFilter": {
    "createdAfter": "DateTime",
    "createdBefore": "DateTime",
    "updatedAfter": "DateTime",
    "updatedBefore": "DateTime"
  },
  "PolicyApprovalInput": {
    "above": "[ApprovalThresholdInput]"
  },
  "PolicyLimitInput": {
    "amount": "AmountInput"
  },
  "QuoteFilter": {
    "createdAfter": "DateTime",
    "createdBefore": "DateTime"
  },
  "SandboxFundAccountInput": {
    "amount": "AmountInput"
  },
  "SandboxReceiveUmaInput": {
    "amount": "AmountInput"
  },
  "SandboxSendInput": {
    "amount": "AmountInput"
  },
  "SetPolicyInput": {
    "approval": "PolicyApprovalInput",
    "limits": "[PolicyLimitInput]"
  },
  "TransactionFilter": {
    "amount": "AmountRange",
    "createdAfter": "DateTime",
    "createdBefore": "DateTime",
    "updatedAfter": "DateTime",
    "updatedBefore": "DateTime"
  },
  "TransferInInput": {
    "amount": "AmountInput"
  },
  "TransferInternalInput": {
    "amount": "AmountInput"
  },
  "TransferOutInput": {
    "amount": "AmountInput"
  }
};
