package warehouse.storage;

import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.collection.mutable.ListBuffer;

/** What a plan or an expression becomes, node by node. */
abstract class Rewrite {
  /** What becomes of the tree that begins with a node. */
  abstract TreeNode of(TreeNode node);

  /** The node over what becomes of its children; itself where they stay as they are. */
  final TreeNode below(TreeNode node) {
    ListBuffer children = new ListBuffer();
    boolean same = true;
    for (int i = 0; i < node.children().size(); i++) {
      TreeNode child = (TreeNode) node.children().apply(i);
      TreeNode after = of(child);
      same &= after == child;
      children.addOne(after);
    }
    return same ? node : node.withNewChildren(children.toList());
  }
}
