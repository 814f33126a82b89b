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
