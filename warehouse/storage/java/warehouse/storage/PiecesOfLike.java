package warehouse.storage;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Contains;
import org.apache.spark.sql.catalyst.expressions.EndsWith;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * LIKE 'a%b_c%' is asked only of texts that hold each of its pieces, which is what most texts fail and is told by
 * comparing bytes. Spark does so where a pattern has a piece or two and no underscore, and else matches a regular
 * expression. That stays for the few that are left, so the answer is the same.
 */
public final class PiecesOfLike extends Conditions {
  private static final String SETTING = "warehouse.like.pieces";

  Expression of(Expression condition, LogicalPlan rows) {
    boolean off = "false".equalsIgnoreCase(conf().getConfString(SETTING, "true"));
    return off ? condition : (Expression) new Likes().of(condition);
  }

  private static final class Likes extends Rewrite {
    TreeNode of(TreeNode expression) {
      return expression instanceof Like ? asked((Like) expression) : below(expression);
    }
  }

  private static Expression asked(Like like) {
    DataType type = like.left().dataType();
    boolean plain = like.left() instanceof Attribute && like.right() instanceof Literal
        && type instanceof StringType && ((StringType) type).isUTF8BinaryCollation();
    Object pattern = plain ? ((Literal) like.right()).value() : null;
    if (pattern == null || pattern.toString().indexOf(like.escapeChar()) >= 0) {
      return like;
    }
    String[] pieces = pattern.toString().split("[%_]+", -1);
    Expression all = null;
    for (int i = 0; i < pieces.length; i++) {
      if (pieces[i].length() > 0) {
        Expression piece = Literal.create(UTF8String.fromString(pieces[i]), type);
        Expression held = i == 0 ? new StartsWith(like.left(), piece)
            : i == pieces.length - 1 ? (Expression) new EndsWith(like.left(), piece) : new Contains(like.left(), piece);
        all = all == null ? held : new And(all, held);
      }
    }
    return all == null || pieces.length == 1 ? like : new And(all, like);
  }
}
