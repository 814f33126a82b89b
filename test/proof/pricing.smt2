; The arithmetic of prices in SMT-LIB: the model that the theorems (theorems.ts) are about. smt.ts evaluates the same
; text, and test/proof/pricing.test.ts compares the results with the functions in src, so the model cannot drift.

; ---------------------------------------------------------------------------- src/core/fraction.ts, over all integers

; BigInt's division, which drops the fraction. Here d is positive, and SMT-LIB's div then rounds down.
(define-fun truncated ((n Int) (d Int)) Int
  (ite (>= n 0) (div n d) (- (div (- n) d))))

(define-fun round_down ((n Int) (d Int)) Int
  (let ((quotient (truncated n d)))
    (ite (and (< n 0) (distinct (* quotient d) n)) (- quotient 1) quotient)))

(define-fun round_up ((n Int) (d Int)) Int
  (- (round_down (- n) d)))

(define-fun round_half_up ((n Int) (d Int)) Int
  (round_down (+ (* 2 n) d) (* 2 d)))

; ------------------------------------------------------------- the meaning of these roundings, for an exact real value

; `whole` is the only integer to which the value can be rounded. The rounding lemmas prove this for the functions above.
(define-fun rounded_down ((whole Real) (exact Real)) Bool
  (and (<= whole exact) (< exact (+ whole 1))))

(define-fun rounded_up ((whole Real) (exact Real)) Bool
  (and (<= exact whole) (< whole (+ exact 1))))

(define-fun rounded_half_up ((whole Real) (exact Real)) Bool
  (and (<= whole (+ exact 0.5)) (< exact (+ whole 0.5))))

; -------------------------------------------------------------------- src/domain/pricing/pricing.ts

; F: `fixed`. k: `units_bought`. The rates of the two variable fees: `platform`, `service`.
(define-fun sound_terms ((fixed Real) (units_bought Real) (platform Real) (service Real)) Bool
  (and (>= fixed 0) (> units_bought 0) (>= platform 0) (>= service 0) (< (+ platform service) 1)))

; The counterparty's fixed fee, converted to the sending currency.
(define-fun converted_fee ((fee Real) (units_bought Real) (amount Real)) Bool
  (rounded_half_up amount (/ fee units_bought)))

; SENDING locked: the amount that arrives.
(define-fun to_receiving ((send Real) (fixed Real) (units_bought Real) (platform Real) (service Real) (receive Real)) Bool
  (rounded_half_up receive (* (- send fixed) (- 1 platform service) units_bought)))

; RECEIVING locked: the amount that must be sent.
(define-fun to_sending ((receive Real) (fixed Real) (units_bought Real) (platform Real) (service Real) (send Real)) Bool
  (rounded_up send (+ fixed (/ (/ receive units_bought) (- 1 platform service)))))

; A single variable fee.
(define-fun variable_fee ((charged Real) (rate Real) (amount Real)) Bool
  (rounded_half_up amount (* charged rate)))

; The remainder after the fees and the price of the received amount are paid.
(define-fun surplus ((send Real) (fees Real) (receive Real) (units_bought Real)) Real
  (- (- send fees) (/ receive units_bought)))

; The unit that would break the rate law on both sides (withSurplus in pricing.ts).
(define-fun surplus_taken ((surplus Real) (units_bought Real)) Real
  (ite (or (<= surplus 1) (<= (* surplus units_bought) 1)) 0.0 1.0))

; A whole quote, SENDING locked. `platform_part` and `service_part` are the two variable fees.
(define-fun sending_locked ((send Real) (receive Real) (fixed Real) (units_bought Real) (platform Real) (service Real)
                            (platform_part Real) (service_part Real) (fees Real)) Bool
  (and (to_receiving send fixed units_bought platform service receive)
       (variable_fee (- send fixed) platform platform_part)
       (variable_fee (- send fixed) service service_part)
       (= fees (+ fixed platform_part service_part))))

; A whole quote, RECEIVING locked. `taken` is 1 if the surplus has become a fee, and 0 otherwise.
(define-fun receiving_locked ((send Real) (receive Real) (fixed Real) (units_bought Real) (platform Real) (service Real)
                              (platform_part Real) (service_part Real) (fees Real) (taken Real)) Bool
  (let ((to_service (ite (> service 0) taken 0.0)) (to_platform (ite (> service 0) 0.0 taken)))
    (and (to_sending receive fixed units_bought platform service send)
         (variable_fee (- send fixed) platform (- platform_part to_platform))
         (variable_fee (- send fixed) service (- service_part to_service))
         (= fees (+ fixed platform_part service_part))
         (= taken (surplus_taken (surplus send (- fees taken) receive units_bought) units_bought)))))

; The rate law: (send - fees) * k = receive, within one smallest unit of one of the two currencies.
(define-fun rate_law ((send Real) (fees Real) (receive Real) (units_bought Real)) Bool
  (let ((difference (- (* (- send fees) units_bought) receive)))
    (or (and (<= difference 1) (>= difference (- 1)))
        (and (<= difference units_bought) (>= difference (- units_bought))))))
