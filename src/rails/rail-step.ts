/**
 * The steps of a payment that a rail performs. PAY_REQUEST asks whether the sender of an incoming UMA payment, who has
 * looked its receiver up, has sent its pay request (`settled` then). PULL is the collection that comes before a payment
 * from an external account. SETTLEMENT is the delivery or collection that ends a payment.
 */
export type RailStep = 'PAY_REQUEST' | 'PULL' | 'SETTLEMENT';
